"""``ngym completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from neurogym_core.cli._main import main

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script for shell completion of commands and task names.

    With the script, the Tab key completes commands, options and names of tasks. To activate it, add
    the command for your shell to the file beside it. Completion imports no task package.

    \b
      bash   eval "$(ngym completion bash)"        in ~/.bashrc
      zsh    eval "$(ngym completion zsh)"         in ~/.zshrc
      fish   ngym completion fish | source         in ~/.config/fish/config.fish
    """
    found = get_completion_class(shell)
    assert found is not None  # click.Choice accepts no other shell
    click.echo(found(main, {}, "ngym", "_NGYM_COMPLETE").source())
