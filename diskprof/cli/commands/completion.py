"""`diskprof completion SHELL`."""

import click
from click.shell_completion import ShellComplete, get_completion_class


@click.command("completion", short_help="Print what makes the Tab key work in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, presets, runs and targets.

    \b
    bash, in ~/.bashrc:   eval "$(diskprof completion bash)"
    zsh, in ~/.zshrc:     autoload -Uz compinit && compinit; eval "$(diskprof completion zsh)"
    fish:                 diskprof completion fish > ~/.config/fish/completions/diskprof.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    made = found(ctx.find_root().command, {}, "diskprof", "_DISKPROF_COMPLETE")
    # BashComplete.source would start a bash to ask for its version, and complain to whoever has none.
    click.echo(ShellComplete.source(made), nl=False)
