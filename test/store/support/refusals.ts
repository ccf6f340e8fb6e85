/** SQLSTATE with which the database refuses a query; `undefined` when it does not. */
export async function code(query: PromiseLike<unknown>): Promise<string | undefined> {
  try {
    await query;
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
    throw error;
  }
}

/** The role of the application has no such right. */
export const NOT_GRANTED = '42501';
export const FOREIGN_KEY = '23503';
export const CHECK = '23514';
export const UNIQUE = '23505';
