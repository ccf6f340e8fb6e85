import type { Part } from './types.ts';

type SentPart = Extract<Part, { type: 'text' | 'image' | 'file' }>;

const IMAGES = /^image\/(?:png|jpeg|gif|webp)$/u;

/** A message with files beside its text, as the API takes it. @throws Error for a file that the browser cannot read */
export async function withFiles(text: string, files: readonly File[]): Promise<string | SentPart[]> {
  if (files.length === 0) return text;
  return [...(text.trim() === '' ? [] : [{ type: 'text', text } as const]), ...(await Promise.all(files.map(partOf)))];
}

async function partOf(file: File): Promise<SentPart> {
  const data = await base64(file);
  if (IMAGES.test(file.type)) {
    const { width, height } = await createImageBitmap(file);
    return { type: 'image', mediaType: file.type, data, width, height };
  }
  if (file.type !== 'application/pdf') {
    // The server refuses what is no text.
    const mediaType = file.type.startsWith('image/') ? file.type : 'text/plain';
    return { type: 'file', mediaType, name: file.name, data, pages: 0 };
  }
  const pages = (await file.text()).match(/\/Type\s*\/Page(?!s)/gu)?.length ?? 1;
  return { type: 'file', mediaType: file.type, name: file.name, data, pages };
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
