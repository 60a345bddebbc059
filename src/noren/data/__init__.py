"""Public schemas, streamed readers that never fail over a record, and packed bits.

A `Schema` declares columns; `partitions` and `read` turn files into clean `Block`s by its rules.
One module reads one format (`csv`, `parquet`, `npz`): a frozen range of a file that yields cells,
and a function that cuts a file into such ranges. Another format is another such module.
"""

from typing import TYPE_CHECKING

from noren.first_use import on_first_use

if TYPE_CHECKING:
    from noren.data.bed import Bed as Bed
    from noren.data.bed import open_bed as open_bed
    from noren.data.bits import column_counts as column_counts
    from noren.data.bits import pack as pack
    from noren.data.bits import pack_indices as pack_indices
    from noren.data.bits import row_counts as row_counts
    from noren.data.bits import unpack as unpack
    from noren.data.bits import words_for as words_for
    from noren.data.blocks import BLOCK_ROWS as BLOCK_ROWS
    from noren.data.blocks import Block as Block
    from noren.data.blocks import block_of as block_of
    from noren.data.columns import Boolean as Boolean
    from noren.data.columns import Categorical as Categorical
    from noren.data.columns import Column as Column
    from noren.data.columns import Integer as Integer
    from noren.data.columns import Numeric as Numeric
    from noren.data.columns import Ordered as Ordered
    from noren.data.columns import Text as Text
    from noren.data.encoding import encode as encode
    from noren.data.encoding import encoded_names as encoded_names
    from noren.data.inspection import SecretInspection as SecretInspection
    from noren.data.inspection import inspect_table as inspect_table
    from noren.data.missing import DROP as DROP
    from noren.data.missing import OWN as OWN
    from noren.data.missing import Missing as Missing
    from noren.data.missing import fill as fill
    from noren.data.proposal import Proposal as Proposal
    from noren.data.proposal import propose as propose
    from noren.data.schema import Schema as Schema
    from noren.data.sites import Sites as Sites
    from noren.data.tables import Partition as Partition
    from noren.data.tables import TablePartition as TablePartition
    from noren.data.tables import partitions as partitions
    from noren.data.tables import read as read
    from noren.data.vcf import convert_vcf as convert_vcf
    from noren.data.whole import read_whole as read_whole

ROOMS = {
    "bed": "Bed open_bed",
    "bits": "column_counts pack pack_indices row_counts unpack words_for",
    "blocks": "BLOCK_ROWS Block block_of",
    "columns": "Boolean Categorical Column Integer Numeric Ordered Text",
    "encoding": "encode encoded_names",
    "inspection": "SecretInspection inspect_table",
    "missing": "DROP OWN Missing fill",
    "proposal": "Proposal propose",
    "schema": "Schema",
    "sites": "Sites",
    "tables": "Partition TablePartition partitions read",
    "vcf": "convert_vcf",
    "whole": "read_whole",
}

__all__, __getattr__, __dir__ = on_first_use(__name__, ROOMS)
