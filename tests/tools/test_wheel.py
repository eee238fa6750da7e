"""The wheel holds the package and nothing else."""

from __future__ import annotations

from tools.wheel import NEEDED, faults


def test_a_wheel_of_the_package_alone_has_no_faults() -> None:
    assert faults([*NEEDED, "likewise/cli/main.py", "likewise-0.2.0.dist-info/METADATA"]) == []


def test_tests_and_benchmarks_in_a_wheel_are_noticed_and_what_is_missing() -> None:
    found = faults([*NEEDED[1:], "tests/test_public.py", "benchmarks/run.py"])
    assert found == [
        "benchmarks/ does not belong into the wheel",
        "tests/ does not belong into the wheel",
        "likewise/__init__.py is missing",
    ]
