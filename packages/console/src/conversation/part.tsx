import type { Entry, Part } from '../api/types.ts';
import { counted } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';

/** Content of an entry but for tool calls, always as text. */
export function Parts({ content }: { readonly content: Entry['content'] }) {
  return content.map((part, place) => <OnePart key={place} part={part} />);
}

function OnePart({ part }: { readonly part: Part }) {
  switch (part.type) {
    case 'text':
      return part.text === '' ? null : <p className="text">{printable(part.text)}</p>;
    case 'thinking':
      return (
        <details className="fold">
          <summary>Thinking</summary>
          <p className="text quiet">{printable(part.text) || 'The provider does not show it.'}</p>
        </details>
      );
    case 'image':
      return <ImagePart part={part} />;
    case 'file':
      return (
        <p className="quiet">
          File{' '}
          <a href={`data:application/octet-stream;base64,${part.data}`} download={printable(part.name)}>
            {printable(part.name)}
          </a>{' '}
          ({printable(part.mediaType)}
          {part.pages > 0 && `, ${counted(part.pages, 'page')}`})
        </p>
      );
    case 'tool_call':
      return null;
  }
}

const SHOWN_IMAGES = /^image\/(?:png|jpeg|gif|webp)$/u;

function ImagePart({ part }: { readonly part: Extract<Part, { type: 'image' }> }) {
  const { mediaType, data, width, height } = part;
  // An SVG could bring a script.
  if (!SHOWN_IMAGES.test(mediaType)) return <p className="quiet">Image of type {printable(mediaType)}</p>;
  return <img src={`data:${mediaType};base64,${data}`} width={width} height={height} alt="" />;
}
