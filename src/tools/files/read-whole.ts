import { ToolError } from '../errors.ts';
import { openFile, requireExisting, type Location, type Workspace } from './workspace.ts';

/** Bytes of the largest file that is edited or appended to: it is held in memory while it is rewritten. */
const EDITABLE_BYTES = 64 * 1_024 * 1_024;

/**
 * The bytes of a file that is about to be rewritten.
 * @throws ToolError `too_large` over 64 MB, and as `openFile` does.
 */
export async function readWhole(workspace: Workspace, location: Location): Promise<Buffer> {
  const file = await openFile(workspace, requireExisting(location), location.display);
  try {
    const { size } = await file.stat();
    if (size > EDITABLE_BYTES) {
      throw new ToolError(
        'too_large',
        `${location.display} has ${size} bytes; only files up to ${EDITABLE_BYTES} can be changed.`,
      );
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}
