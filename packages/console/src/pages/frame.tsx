import { Link, Outlet } from '@tanstack/react-router';

/** What every page stands in. */
export function Frame() {
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
        </nav>
      </header>
      <main>
        <Outlet />
      </main>
    </>
  );
}
