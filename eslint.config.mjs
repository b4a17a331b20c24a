import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const only = (...scopes) => scopes.map((scope) => `scope:${scope}`);
const lib = (scope, ...mayImport) => ({
  sourceTag: `scope:${scope}`,
  onlyDependOnLibsWithTags: only(scope, ...mayImport),
});

export default tseslint.config(
  { ignores: ['**/dist', '**/node_modules', '.nx', '.local', '.cache', 'artifacts', 'coverage'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    plugins: { '@nx': nx },
    rules: {
      // Conditions of statements are written so: where.and`owner = ${owner}`.
      '@typescript-eslint/no-unused-expressions': ['error', { allowTaggedTemplates: true }],
      '@nx/enforce-module-boundaries': [
        'error',
        {
          allow: [],
          depConstraints: [
            lib('domain'),
            lib('client'),
            lib('fleet', 'domain'),
            lib('local-servers', 'domain', 'fleet'),
            lib('trials', 'domain', 'fleet', 'local-servers'),
            lib('signing', 'domain'),
            lib('platform', 'domain'),
            lib('auth', 'domain', 'platform'),
            lib('directory', 'domain', 'platform'),
            lib('tracking', 'domain', 'platform'),
            { sourceTag: 'type:app', onlyDependOnLibsWithTags: ['type:lib'] },
            { sourceTag: 'scope:testing', onlyDependOnLibsWithTags: ['type:lib'] },
            { sourceTag: 'type:example', onlyDependOnLibsWithTags: ['type:lib'] },
            // Makes the documents of all apps, whose sources it loads by path.
            { sourceTag: 'scope:openapi', onlyDependOnLibsWithTags: ['type:lib'] },
            {
              sourceTag: 'type:tool',
              onlyDependOnLibsWithTags: only(
                'domain',
                'client',
                'signing',
                'fleet',
                'local-servers',
                'trials',
              ),
            },
          ],
        },
      ],
    },
  },
  {
    // The preset and the build configuration lie at the root, outside every project.
    files: ['**/jest*.config.mjs', '**/global-setup.mjs'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    // Tests may use the test helpers, whatever the lib or the tool itself may import; apps stay apart in tests too.
    files: ['{libs,tools}/*/test/**/*.ts', 'libs/**/*.spec.ts'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { depConstraints: [{ sourceTag: '*', onlyDependOnLibsWithTags: ['type:lib'] }] },
      ],
    },
  },
  {
    // The types that a command makes lie outside the lib, and its consumer is written as one from outside.
    files: ['libs/client/{src,consumer}/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { allowCircularSelfDependency: true, depConstraints: [lib('client')] },
      ],
    },
  },
  {
    // Production code never reaches for the test helpers or the laptop servers.
    files: ['apps/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: ['@perkway/testing', '@perkway/fleet', '@perkway/local-servers', '@perkway/trials'] },
      ],
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.ts'],
    rules: {
      // A type-only import of an injected class passes the compiler and fails at start: it leaves no metadata.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    // What goes to browsers and how it is built: nothing of it is loaded by the apps.
    files: ['apps/console/web/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name="style"]',
          message:
            'Use a class: looks belong into the stylesheets, and the policy of the console allows none here.',
        },
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'Text is text.' },
      ],
    },
  },
  {
    files: ['**/*.{js,cjs,mjs,ts}'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
);
