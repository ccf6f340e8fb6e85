import { useWaitingCalls } from '../api/waiting.ts';
import { Link, Outlet } from '@tanstack/react-router';

/** What every page stands in. */
export function Frame() {
  const { data } = useWaitingCalls();
  const waiting = data?.items.length ?? 0;
  return (
    <>
      <header className="top">
        <Link to="/" className="brand">
          Holdfast
        </Link>
        <nav aria-label="Pages">
          <Link to="/" activeOptions={{ exact: true }}>
            Conversations
          </Link>
          <Link to="/search">Search</Link>
          <Link to="/inbox">Inbox {waiting > 0 && <span className="number-waiting">{waiting}</span>}</Link>
        </nav>
      </header>
      <main>
        <Outlet />
      </main>
    </>
  );
}
