import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { ToolError } from '../errors.ts';
import { EDIT_FILE, READ_FILE } from '../runtime/names.ts';
import { readWhole, replaceFile } from '../files/replace-file.ts';
import { replaceText, type ReplaceResult } from '../files/replace-text.ts';
import { locate } from '../files/workspace.ts';

/** Places named when a text occurs more than once. */
const LINES_NAMED = 10;

/**
 * `idempotent`: a repeated attempt looks at the file first and leaves it alone when it shows that an earlier one
 * has replaced the text. The rename makes it all or nothing.
 */
export const editFile = defineTool({
  name: EDIT_FILE,
  description:
    'Replaces a text in a file of the workspace. old_text must be exactly what the file holds, without the line numbers ' +
    'that read_file shows, and must occur once, unless replace_all is set: give enough lines around it.',
  input: z.strictObject({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    old_text: z.string().min(1).describe('The text to replace, exactly as it stands in the file.'),
    new_text: z.string().describe('The text to put in its place; empty to delete.'),
    replace_all: z.boolean().optional().describe('Replace every occurrence. Default: false.'),
  }),
  effect: 'idempotent',
  exclusive: true,
  async run(input, context) {
    const { path, old_text: oldText, new_text: newText, replace_all: all = false } = input;
    if (oldText === newText) throw new ToolError('input_refused', 'old_text and new_text are the same: nothing to do.');
    const location = await locate(context, path);
    const before = await readWhole(location);
    const result = replaceText({ before, oldText, newText, all, attempt: context.attempt });
    if (result.kind === 'replaced') await replaceFile(location, result.after, context);
    return { content: describe(result, location.display) };
  },
});

function describe(result: ReplaceResult, path: string): string {
  switch (result.kind) {
    case 'replaced': {
      const times = result.count === 1 ? 'one place' : `${result.count} places`;
      return `${path} changed in ${times}, first at line ${result.firstLine}.`;
    }
    case 'already_replaced':
      return `${path} was already changed: an earlier attempt of this call was interrupted after it had written.`;
    case 'not_found': {
      const hint = result.onlyWhiteSpaceDiffers
        ? ' It occurs with other white space: copy indentation and line breaks exactly.'
        : '';
      throw new ToolError(
        'input_refused',
        `${path} does not hold old_text.${hint} Read the place with ${READ_FILE} first.`,
      );
    }
    case 'ambiguous': {
      const lines = result.lines.slice(0, LINES_NAMED).join(', ');
      const more = result.lines.length > LINES_NAMED ? ' …' : '';
      throw new ToolError(
        'input_refused',
        `${path} holds old_text ${result.lines.length} times (lines ${lines}${more}). Give more lines around it, or set replace_all.`,
      );
    }
  }
}
