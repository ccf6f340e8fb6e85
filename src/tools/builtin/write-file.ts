import { z } from 'zod';
import { counted } from '../files/text.ts';
import { defineTool } from '../define-tool.ts';
import { WRITE_FILE } from '../runtime/names.ts';
import { readWhole, replaceFile } from '../files/replace-file.ts';
import { withLineEndsAround } from '../files/replace-text.ts';
import { locate } from '../files/workspace.ts';

/**
 * `idempotent`: writing the same content again changes nothing. Appending is made so as far as the file itself can
 * tell: a repeated attempt does not append what the file already ends with.
 */
export const writeFile = defineTool({
  name: WRITE_FILE,
  description:
    'Writes a text file of the workspace: creates it, replaces its whole content, or adds to its end with append. ' +
    'Missing directories are made. Write a long file in parts with append. To change a part of a file use edit_file.',
  input: z.strictObject({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    content: z.string().describe('The text to write, line breaks included.'),
    append: z.boolean().optional().describe('Add to the end instead of replacing. Default: false.'),
  }),
  effect: 'idempotent',
  exclusive: true,
  async run({ path, content, append = false }, context) {
    const location = await locate(context, path);
    const isNew = location.missing.length > 0;
    let bytes = Buffer.from(content);
    if (!append || isNew) {
      await replaceFile(location, bytes, context);
      return { content: `${location.display} ${isNew ? 'created' : 'replaced'}: ${describe(content, bytes)}.` };
    }
    const before = Buffer.from(await readWhole(location));
    // Line ends of the kind that the file has.
    bytes = Buffer.from(withLineEndsAround(before, { from: before.length }, content));
    if (context.attempt > 1 && bytes.length > 0 && before.subarray(-bytes.length).equals(bytes)) {
      return {
        content:
          `${location.display} already ends with this text, so it was not appended again: an earlier attempt of this ` +
          `call was interrupted, most likely after it had written. Read the end of the file if that matters.`,
      };
    }
    await replaceFile(location, Buffer.concat([before, bytes]), context);
    return { content: `Appended to ${location.display}: ${describe(content, bytes)}.` };
  },
});

function describe(content: string, bytes: Uint8Array): string {
  const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
  return `${counted(lines, 'line')}, ${counted(bytes.length, 'byte')}`;
}
