"""The stack's name, region and profile come from samconfig.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.cli.doctor.samconfig import DeployConfig, read_config
from local.cli.errors import UsageError
from local.runtime.template import ROOT


def write_config(folder: Path, text: str) -> Path:
    path = folder / "samconfig.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("environment", "name"),
    [("default", "duecourse"), ("dev", "duecourse-dev"), ("prod", "duecourse-prod")],
)
def test_our_own_file_names_a_stack_for_each_environment(environment: str, name: str) -> None:
    assert read_config(ROOT / "samconfig.toml", environment) == DeployConfig(name)


def test_parameters_of_deploy_override_global_ones(tmp_path: Path) -> None:
    path = write_config(
        tmp_path,
        '[default.global.parameters]\nstack_name = "a"\nregion = "eu-west-1"\n'
        '[default.deploy.parameters]\nregion = "eu-west-3"\nprofile = "ops"\n',
    )

    assert read_config(path, "default") == DeployConfig("a", "eu-west-3", "ops")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version = 0.1\n", "no environment default"),
        ("[default]\n", "no stack_name"),
        ('[default.global.parameters]\nstack_name = ["a"]\n', "no stack_name"),
        ("[default", "samconfig.toml"),
    ],
)
def test_a_file_without_the_stack_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        read_config(write_config(tmp_path, text), "default")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--stack NAME"):
        read_config(tmp_path / "samconfig.toml", "default")
