"""The shape of a preset file, for pydantic. Imported when the first preset is read: pydantic takes long to import (F44)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from diskprof.model.preset import Category, EngineName, Layout, ParameterKind
from diskprof.model.text import clean
from diskprof.presets.limit_text import limit_text
from diskprof.presets.map_text import map_text
from diskprof.presets.steady_text import rounds_text, steady_text

NAME = r"^[a-z0-9][a-z0-9_-]{0,39}$"
TEST_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
PARAMETER_NAME = r"^[a-z][a-z0-9_]{0,31}$"


def _scalar(value: Any) -> Any:
    """A text, number or truth value as text: true is 1."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise ValueError("must be a text, a number, true or false")
    if value != clean(value):
        raise ValueError("contains a control character")
    return value


def _own_section(value: str) -> str:
    if value.startswith("global"):
        raise ValueError("fio takes a name that begins with global for the options of all jobs: choose another")
    return value


def _not_empty(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    return value


def _line(value: Any) -> Any:
    """Text for one line of the screen."""
    return " ".join(clean(value, keep_newlines=True).split()) if isinstance(value, str) else value


def _long_or_short(value: Any) -> Any:
    return value if isinstance(value, dict) else {"default": value}


def _steady(value: Any) -> Any:
    """A table of what makes a test steady as one text."""
    return steady_text(value) if isinstance(value, dict) else value


def _rounds(value: Any) -> Any:
    """The table of what ends rounds as one text."""
    if not isinstance(value, dict):
        raise ValueError("must be a table: [rounds]")
    return rounds_text(value)


def _limit(value: Any) -> Any:
    """The table of what a limit is searched for by as one text."""
    if not isinstance(value, dict):
        raise ValueError("must be a table: [limit]")
    return limit_text(value)


def _map(value: Any) -> Any:
    """The table of a read/write map as one text."""
    if not isinstance(value, dict):
        raise ValueError("must be a table: [map]")
    return map_text(value)


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Scalar = Annotated[str, BeforeValidator(_scalar), StringConstraints(max_length=200)]
Name = Annotated[str, StringConstraints(pattern=NAME)]
TestName = Annotated[str, StringConstraints(pattern=TEST_NAME), AfterValidator(_own_section)]
ParameterName = Annotated[str, StringConstraints(pattern=PARAMETER_NAME)]
TitleText = Annotated[str, BeforeValidator(_line), StringConstraints(max_length=80)]
Text = Annotated[str, BeforeValidator(_line), StringConstraints(max_length=2000)]
Keyword = Annotated[str, BeforeValidator(_line), StringConstraints(max_length=120), AfterValidator(_not_empty)]
MetricName = Annotated[str, BeforeValidator(_line), StringConstraints(max_length=64)]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Targets = Annotated[list[str], BeforeValidator(_one_or_more), Field(max_length=8)]
Reference = Annotated[str, StringConstraints(pattern=r"^\$[a-z][a-z0-9_]{0,31}$")]
Files = Literal["own", "shared"] | Reference | Annotated[list[FileName], Field(min_length=1, max_length=64)]
OptionTable = dict[str, Scalar]
Steady = Annotated[Scalar, BeforeValidator(_steady)]
Rounds = Annotated[Scalar, BeforeValidator(_rounds)]
Limit = Annotated[Scalar, BeforeValidator(_limit)]
ReadWriteMap = Annotated[Scalar, BeforeValidator(_map)]
Choices = Annotated[list[Scalar], BeforeValidator(_one_or_more), Field(min_length=1, max_length=50)]

TextLines = Annotated[list[Scalar], BeforeValidator(_one_or_more), Field(min_length=1, max_length=4)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ParameterEntry(_Strict):
    default: Scalar
    kind: ParameterKind | None = None
    summary: Text = ""
    choices: Annotated[list[Scalar], Field(max_length=50)] = []
    optional: bool = False


class JobEntry(_Strict):
    name: TestName
    target: Targets = []
    files: Files | None = None
    options: OptionTable = {}


class TestEntry(_Strict):
    name: TestName
    title: TitleText = ""
    engine: Literal[EngineName.FIO, EngineName.IOPING] = EngineName.FIO
    target: Targets = []
    files: Files | None = None
    layout: Scalar = Layout.FILLED
    steady: Steady = ""
    options: OptionTable = {}
    job: Annotated[list[JobEntry], Field(max_length=64)] = []


class ExpectEntry(_Strict):
    test: str = ""
    job: str = ""
    disk_class: str = ""
    metric: MetricName = ""
    min: Scalar | None = None
    max: Scalar | None = None
    above: Scalar | None = None
    below: Scalar | None = None
    base: TextLines | None = None
    per_gib: TextLines | None = None
    cap: Scalar | None = None
    when: Annotated[dict[str, Choices], Field(max_length=4)] = {}
    seconds: Scalar = "60"


class PresetFile(_Strict):
    name: Name
    title: TitleText = ""
    summary: Text = ""
    category: Category = Category.OWN
    source: Text = ""
    aliases: Annotated[list[Name], Field(max_length=20)] = []
    keywords: Annotated[list[Keyword], Field(max_length=40)] = []
    parameters: Annotated[
        dict[ParameterName, Annotated[ParameterEntry, BeforeValidator(_long_or_short)]], Field(max_length=32)
    ] = {}
    targets: Annotated[dict[Name, Text], Field(max_length=8)] = {}
    variants: Annotated[dict[Name, OptionTable], Field(max_length=8)] = {}
    sweep: Annotated[
        dict[str, Annotated[list[Scalar], Field(min_length=1, max_length=1000)]], Field(max_length=32)
    ] = {}
    rounds: Rounds = ""
    limit: Limit = ""
    map: ReadWriteMap = ""
    fio: OptionTable = {}
    ioping: OptionTable = {}
    expect: Annotated[list[ExpectEntry], Field(max_length=200)] = []
    precondition: Annotated[list[TestEntry], Field(max_length=8)] = []
    test: Annotated[list[TestEntry], Field(min_length=1, max_length=200)]
