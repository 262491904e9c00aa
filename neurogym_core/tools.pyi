# The public names of `neurogym_core.tools`; see `neurogym_core/__init__.pyi`.

# Commands:
from neurogym_core.cli._main import main as main
from neurogym_core.terminal.settings import usage_errors as usage_errors
from neurogym_core.terminal.settings import split_option as split_option
from neurogym_core.terminal.settings import csv_option as csv_option
from neurogym_core.terminal.settings import trust_option as trust_option
from neurogym_core.terminal.settings import read_split as read_split
from neurogym_core.terminal.settings import read_conditions as read_conditions
from neurogym_core.terminal.settings import task_options as task_options
from neurogym_core.terminal.settings import task_settings as task_settings
from neurogym_core.terminal.settings import SubjectName as SubjectName
from neurogym_core.terminal.settings import PlayCommand as PlayCommand
from neurogym_core.terminal import complete as complete

# Pages in the terminal:
from neurogym_core.terminal.output import Page as Page
from neurogym_core.terminal.description import describe as describe
from neurogym_core.terminal.description import add_description as add_description
from neurogym_core.terminal.description import as_text as as_text
from neurogym_core.terminal.output import print_json as print_json
from neurogym_core.terminal.output import Progress as Progress
from neurogym_core.terminal.description import in_words as in_words

# Settings and files:
from neurogym_core.ecosystem.settings_text import read_value as read_value
from neurogym_core.ecosystem.settings_text import read_wrap as read_wrap
from neurogym_core.ecosystem.settings_text import split_values as split_values
from neurogym_core.ecosystem.files import is_file_reference as is_file_reference
from neurogym_core.ecosystem.files import load_file as load_file
from neurogym_core.ecosystem.files import trusting as trusting
from neurogym_core.ecosystem.files import trusted as trusted
from neurogym_core.files import replacing as replacing

# Installed packages:
from neurogym_core.ecosystem.discovery import installed as installed
from neurogym_core.ecosystem.discovery import refresh as refresh
from neurogym_core.ecosystem.discovery import find_task as find_task
from neurogym_core.ecosystem.discovery import load_task as load_task
from neurogym_core.ecosystem.discovery import find_wrapper as find_wrapper
from neurogym_core.ecosystem.discovery import load_wrapper as load_wrapper
from neurogym_core.ecosystem.discovery import load as load
from neurogym_core.ecosystem.discovery import offers_of as offers_of
from neurogym_core.ecosystem.hooks import ask_plugins as ask_plugins
from neurogym_core.ecosystem.records import TaskInfo as TaskInfo
from neurogym_core.ecosystem.records import PackageInfo as PackageInfo
from neurogym_core.ecosystem.records import Reference as Reference
from neurogym_core.ecosystem.records import Problem as Problem
from neurogym_core.ecosystem.names import namespace_of as namespace_of
from neurogym_core.ecosystem.manifest import vocabulary as vocabulary
from neurogym_core.ecosystem.manifest import Manifest as Manifest
from neurogym_core.ecosystem.manifest import parse_manifest as parse_manifest

# Packages of this project that are not installed:
from neurogym_core.ecosystem.published import how_to_install as how_to_install
from neurogym_core.ecosystem.names import brought as brought
from neurogym_core.ecosystem.names import comes_with as comes_with

# Names and texts of strangers:
from neurogym_core.ecosystem.names import canonical as canonical
from neurogym_core.ecosystem.names import clean as clean
from neurogym_core.ecosystem.names import said_by as said_by
from neurogym_core.ecosystem.manifest import read_toml as read_toml

# Imports:
from neurogym_core.lazy import lazy_names as lazy_names
from neurogym_core.lazy import optional as optional

# Code of others in a child process:
from neurogym_core.child import run_child as run_child
from neurogym_core.child import Answers as Answers

# Errors:
from neurogym_core.errors import unknown as unknown
from neurogym_core.errors import listed as listed
from neurogym_core.errors import did_you_mean as did_you_mean
from neurogym_core.errors import FileNotWrittenError as FileNotWrittenError
