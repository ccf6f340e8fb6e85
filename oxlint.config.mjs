import { IMPORT_RULES } from './scripts/import-rules.mjs';

export default {
  plugins: ['typescript', 'import', 'unicorn', 'oxc'],
  options: { typeAware: true },
  categories: { correctness: 'error', suspicious: 'error', perf: 'warn' },
  rules: {
    'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
    'max-lines-per-function': ['error', { max: 60, skipBlankLines: false, skipComments: false, IIFEs: true }],
    'import/no-cycle': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'no-console': 'error',
    'no-await-in-loop': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-reverse': 'off',
    'no-shadow': 'off',
    'typescript/consistent-return': 'off',
    'no-underscore-dangle': 'off',
    'import/no-named-as-default-member': 'off',
  },
  overrides: [
    ...IMPORT_RULES,
    {
      files: ['src/cli/**', 'scripts/**', 'dev/bench/**', 'dev/soak/**', 'docs/examples/**'],
      rules: { 'no-console': 'off' },
    },
    {
      files: ['test/**'],
      rules: {
        'max-lines-per-function': 'off',
        'typescript/no-unsafe-type-assertion': 'off',
        'typescript/no-unnecessary-type-parameters': 'off',
      },
    },
  ],
  ignorePatterns: ['dist', 'node_modules', 'test/histories/kept', 'vendor'],
};
