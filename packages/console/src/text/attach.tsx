import { useRef } from 'react';
import { printable } from './printable.ts';

interface AttachProps {
  readonly files: readonly File[];
  readonly change: (files: readonly File[]) => void;
}

/** Pictures, PDF and text to go with a message. */
export function Attach({ files, change }: AttachProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Attach
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ target }) => {
          change([...files, ...(target.files ?? [])]);
          target.value = '';
        }}
      />
      {files.map((file, place) => (
        <button
          key={place}
          type="button"
          className="file"
          aria-label={`Remove ${printable(file.name)}`}
          onClick={() => change(files.filter((each) => each !== file))}
        >
          {printable(file.name)} ×
        </button>
      ))}
    </>
  );
}
