import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContentPart } from 'holdfast/internal/context/log/content.js';

/** Where a content stands in the file. */
export interface ContentPlace {
  readonly offset: number;
  readonly length: number;
}

/**
 * Contents on disk, so that a session of any size can be replayed in the memory that its sizes
 * take. The file is deleted with `close`.
 */
export class ContentFile {
  private readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-lab-'));
  private readonly descriptor = openSync(join(this.directory, 'contents'), 'w+');
  private end = 0;

  append(content: readonly ContentPart[]): ContentPlace {
    const bytes = Buffer.from(JSON.stringify(content));
    const place = { offset: this.end, length: bytes.length };
    writeSync(this.descriptor, bytes, 0, bytes.length, this.end);
    this.end += bytes.length;
    return place;
  }

  read({ offset, length }: ContentPlace): readonly ContentPart[] {
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const count = readSync(this.descriptor, bytes, read, length - read, offset + read);
      if (count === 0) throw new RangeError(`the contents end at byte ${offset + read} of ${offset + length}`);
      read += count;
    }
    const content: readonly ContentPart[] = JSON.parse(bytes.toString('utf8'));
    return content;
  }

  close(): void {
    closeSync(this.descriptor);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
