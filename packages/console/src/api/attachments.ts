import type { MessagePart } from '../../../../src/client/arguments.ts';

/** A message with files beside its text, as the API takes it. @throws Error for a file that the browser cannot read */
export async function withFiles(text: string, files: readonly File[]): Promise<string | MessagePart[]> {
  if (files.length === 0) return text;
  return [...(text.trim() === '' ? [] : [{ type: 'text', text } as const]), ...(await Promise.all(files.map(partOf)))];
}

async function partOf(file: File): Promise<MessagePart> {
  const data = await base64(file);
  // The server refuses what no model reads; an SVG is read as text.
  if (file.type.startsWith('image/') && file.type !== 'image/svg+xml') return { type: 'image', data };
  const mediaType = file.type === 'application/pdf' ? file.type : 'text/plain';
  return { type: 'file', mediaType, name: file.name, data };
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('error', () => reject(new Error(`The file ${file.name} cannot be read.`)));
    reader.addEventListener('load', () => {
      const address = typeof reader.result === 'string' ? reader.result : '';
      resolve(address.slice(address.indexOf(',') + 1));
    });
    reader.readAsDataURL(file);
  });
}
