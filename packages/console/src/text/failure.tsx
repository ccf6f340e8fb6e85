import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Problem, wantsKey } from '../api/problem.ts';
import { logIn } from '../api/request.ts';
import { printable } from './printable.ts';

/** What went wrong and what to do. A server that wants a key is answered once, above the page. */
export function Failure({ error }: { readonly error: Error }) {
  return wantsKey(error) ? null : <Explained error={error} />;
}

function Explained({ error }: { readonly error: Error }) {
  const problem = error instanceof Problem ? error : null;
  return (
    <div className="failure" role="alert">
      <strong>{printable(error.message)}</strong> {printable(problem?.next ?? '')}
    </div>
  );
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
