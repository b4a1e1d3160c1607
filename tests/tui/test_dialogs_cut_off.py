"""The terminal hangs up in the moment in which a dialog opens: the screen ends in order."""

import asyncio
from collections.abc import Callable

import pytest
from bench_screens import Bench, open_bench
from stored_screens import until
from textual.content import Content
from textual.screen import ModalScreen

from diskprof.model.device import DeviceTree
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.dialogs.form import FormDialog, FormField
from diskprof.tui.dialogs.text_page import TextPage
from diskprof.tui.run.target_dialog import TargetDialog

DIALOGS: dict[str, Callable[[], ModalScreen]] = {  # type: ignore[type-arg]
    "form": lambda: FormDialog("Title", [FormField("size", "Size", "1g")]),
    "page": lambda: TextPage("Title", Content("Text")),
    "question": lambda: Ask("Title", "Text", (Answer("y", "Yes", "yes"),)),
    "target": lambda: TargetDialog(DeviceTree(), (), str),
}


@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize("kind", DIALOGS)
async def test_an_app_that_ends_while_a_dialog_opens(bench: Bench, kind: str, turns: int) -> None:
    """So many turns of the loop later: before what is on it is made, or between that and the lines of its list."""
    async with open_bench(bench) as pilot:
        pilot.app.push_screen(DIALOGS[kind]())
        for _ in range(turns):
            await asyncio.sleep(0)
        pilot.app.exit()
        async with asyncio.timeout(20):
            await until(pilot, lambda: not pilot.app.is_running)
