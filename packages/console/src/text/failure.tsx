import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Problem, setApiKey } from '../api/request.ts';

/** What went wrong and what to do. Asks for an API key where the server wants one. */
export function Failure({ error }: { readonly error: Error }) {
  const problem = error instanceof Problem ? error : null;
  return (
    <div className="failure" role="alert">
      <strong>{error.message}</strong> {problem?.next}
      {problem?.status === 401 && <KeyForm />}
    </div>
  );
}

function KeyForm() {
  const queries = useQueryClient();
  const take = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    if (typeof key !== 'string' || key.trim() === '') return;
    setApiKey(key.trim());
    void queries.invalidateQueries();
  };
  return (
    <form className="row" onSubmit={take}>
      <input name="key" type="password" autoComplete="off" aria-label="API key" placeholder="API key" />
      <button type="submit">Use this key</button>
    </form>
  );
}
