import { outlineTable } from '../../context/log/outline-table.ts';
import type { OutlineTable } from '../../context/log/outline-table.ts';
import { entriesInScope } from '../conversations/branch-path.ts';
import type { ViewScope } from '../conversations/branch-path.ts';
import type { Queries } from '../database/database.ts';
import { outlineColumns, toOutline } from './entry-rows.ts';
import type { OutlineColumns } from './entry-rows.ts';
import { BLOCK_ENTRIES, UnpackedOutlines } from './unpack-outlines.ts';
import type { PackedBlock } from './unpack-outlines.ts';

/** Below this rows are read as they are: one query less. */
const WORTH_UNPACKING = 4 * BLOCK_ENTRIES;

/** Outlines of the branch that a view needs, oldest first: full blocks at once, the rest row by row. */
export async function readOutlines(sql: Queries, scope: ViewScope): Promise<OutlineTable> {
  const { point, fromSequence } = scope;
  const { conversationId, headSequence } = point;
  const firstBlock = Math.floor((fromSequence - 1) / BLOCK_ENTRIES);
  const endBlock = Math.floor(headSequence / BLOCK_ENTRIES);
  if (headSequence - fromSequence < WORTH_UNPACKING) return readRows(sql, scope);
  const [blocks, path, rest] = await Promise.all([
    sql<PackedBlock[]>`
      select ids, outline from packed_outlines
      where conversation_id = ${conversationId} and block >= ${firstBlock} and block < ${endBlock} order by block`,
    sql<BranchPart[]>`
      select ancestor, through_sequence as through from branches
      where conversation_id = ${conversationId} and branch = ${point.branch}`,
    readRows(sql, { ...scope, fromSequence: endBlock * BLOCK_ENTRIES + 1 }),
  ]);
  // Never so, as the schema packs them; a plan without some of its entries would drop them.
  if (blocks.length !== endBlock - firstBlock) return readRows(sql, scope);
  const through = new Map(path.map((part) => [part.ancestor, part.through]));
  const unpacked = new UnpackedOutlines(rest.length + blocks.length * BLOCK_ENTRIES);
  const older = rest.firstFrom(fromSequence);
  for (let position = 0; position < older; position += 1) unpacked.addRow(rest.at(position));
  for (const [index, block] of blocks.entries()) {
    unpacked.addBlock(block, { before: (firstBlock + index) * BLOCK_ENTRIES, path: { fromSequence, through } });
  }
  for (let position = older; position < rest.length; position += 1) unpacked.addRow(rest.at(position));
  return unpacked.table();
}

interface BranchPart {
  readonly ancestor: number;
  readonly through: number;
}

async function readRows(sql: Queries, scope: ViewScope): Promise<OutlineTable> {
  const rows = await sql<OutlineColumns[]>`${entriesInScope(sql, scope, outlineColumns(sql), sql``)}`;
  return outlineTable(rows.map(toOutline));
}
