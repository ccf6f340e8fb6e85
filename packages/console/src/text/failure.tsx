import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { Problem, wantsKey } from '../api/problem.ts';
import { logIn } from '../api/request.ts';
import { printable } from './printable.ts';

/** What went wrong and what to do. Renders nothing when the server asks for an API key: the frame has one form for that, above the page. */
export function Failure({ error }: { readonly error: Error }) {
  return wantsKey(error) ? null : <Explained error={error} />;
}

/** What to do, by error code. Replaces advice of the server that is meant for programs. */
const ON_A_PAGE: Readonly<Record<string, string>> = {
  invalid_argument: 'Correct it, and try again.',
  conversation_not_found: 'Choose one of the list of conversations.',
  entry_not_found: 'Search for a word of it.',
};

function Explained({ error }: { readonly error: Error }) {
  const next = error instanceof Problem ? (ON_A_PAGE[error.code] ?? error.next) : '';
  return (
    <div className="failure" role="alert">
      <strong>{asSentence(printable(error.message))}</strong> {withCode(next)}
    </div>
  );
}

function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!…]$/u.test(text) ? '' : '.'}`;
}

/** Shows text between backticks as code. */
function withCode(text: string): ReactNode[] {
  return text.split('`').map((piece, place) => {
    const shown = printable(piece);
    return place % 2 === 1 ? <code key={place}>{shown}</code> : shown;
  });
}

/** Asks for an API key. */
export function LogIn({ error }: { readonly error: Error }) {
  const queries = useQueryClient();
  const login = useMutation({ mutationFn: logIn, onSuccess: () => queries.invalidateQueries() });
  const take = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    if (typeof key === 'string' && key.trim() !== '') login.mutate(key.trim());
  };
  return (
    <section className="page">
      <Explained error={login.error ?? error} />
      <form className="row" onSubmit={take}>
        <input name="key" type="password" autoComplete="off" aria-label="API key" placeholder="API key" />
        <button type="submit" className="main" disabled={login.isPending}>
          Use this key
        </button>
      </form>
    </section>
  );
}
