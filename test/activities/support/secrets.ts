/** Of well-known forms or places, none of them real: as it is written, and what must not be told of it. */
export const SECRETS_IN_PLACE: readonly { readonly written: string; readonly secret: string }[] = [
  { written: 'postgres://app:Tr0ub4dor9xQ7wZkM2@db.example.com:5432/orders', secret: 'Tr0ub4dor9xQ7wZkM2' },
  { written: 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8', secret: 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8' },
  { written: 'sk-proj-Zx81Qw72Er63Ty54Ui45Op36As27Df18', secret: 'Zx81Qw72Er63Ty54Ui45Op36As27Df18' },
];

/** Characters in a row of a secret that tell enough of it. */
const TELLING = 5;

/** The parts of secrets that stand in a text. */
export function toldOfSecrets(text: string): readonly string[] {
  return SECRETS_IN_PLACE.flatMap(({ secret }) =>
    Array.from({ length: secret.length - TELLING + 1 }, (_, from) => secret.slice(from, from + TELLING)).filter(
      (part) => text.includes(part),
    ),
  );
}
