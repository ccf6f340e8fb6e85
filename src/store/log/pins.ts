import { measureContent } from '../../context/log/measure.ts';
import { changeRules, pinsIn } from '../../context/log/pins.ts';
import type { PinChange } from '../../context/log/pins.ts';
import type { Queries } from '../database/database.ts';
import type { Writer } from '../database/transaction.ts';
import { insertEntry } from './entry-writer.ts';
import { readNewestNote } from './notes.ts';

export async function readPins(sql: Queries, conversationId: string): Promise<readonly string[]> {
  return pinsIn((await readNewestNote(sql, conversationId, 'rules')) ?? []);
}

export async function changePins({ sql, turn, event }: Writer, change: PinChange): Promise<void> {
  if (change.add.length === 0 && change.remove.length === 0) return;
  const content = changeRules((await readNewestNote(sql, turn.conversationId, 'rules')) ?? [], change);
  if (content === null) return;
  const note = await insertEntry(sql, {
    content,
    measurements: measureContent(content),
    kind: 'note',
    slot: 'rules',
    turn,
  });
  await event('rules_changed', { entryId: note.id });
}
