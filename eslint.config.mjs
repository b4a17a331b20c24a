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
      // Conditions are written as where.and`owner = ${owner}`.
      '@typescript-eslint/no-unused-expressions': ['error', { allowTaggedTemplates: true }],
      '@nx/enforce-module-boundaries': [
        'error',
        {
          // The version of the release.
          allow: ['/package\\.json$'],
          depConstraints: [
            lib('domain'),
            lib('client'),
            lib('catalogue', 'domain'),
            lib('audit', 'domain', 'local-servers'),
            lib('command-line'),
            lib('fleet', 'domain'),
            lib('local-servers', 'domain', 'fleet'),
            lib('test-fleet', 'audit', 'domain', 'fleet', 'local-servers'),
            lib('signing', 'domain'),
            lib('platform', 'command-line', 'domain'),
            lib('auth', 'domain', 'platform'),
            lib('directory', 'domain', 'platform'),
            lib('tracking', 'domain', 'platform'),
            { sourceTag: 'type:app', onlyDependOnLibsWithTags: ['type:lib'] },
            { sourceTag: 'scope:testing', onlyDependOnLibsWithTags: ['type:lib'] },
            { sourceTag: 'type:example', onlyDependOnLibsWithTags: ['type:lib'] },
            // Generates the documents of all apps, whose sources it loads by path.
            { sourceTag: 'scope:openapi', onlyDependOnLibsWithTags: ['type:lib'] },
            {
              sourceTag: 'type:tool',
              onlyDependOnLibsWithTags: only(
                'domain',
                'audit',
                'auth',
                'catalogue',
                'client',
                'command-line',
                'signing',
                'fleet',
                'local-servers',
                'test-fleet',
              ),
            },
          ],
        },
      ],
    },
  },
  {
    // The preset and the build configuration are at the root, outside every project.
    files: ['**/jest*.config.mjs', '**/global-setup.mjs'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    // Tests may use the test helpers in addition to what the lib or tool may import. Apps stay separate in tests too.
    files: ['{libs,tools}/*/test/**/*.ts', 'libs/**/*.spec.ts'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          allow: ['/package\\.json$'],
          depConstraints: [{ sourceTag: '*', onlyDependOnLibsWithTags: ['type:lib'] }],
        },
      ],
    },
  },
  {
    // Generated types are outside the lib, and its consumer is written like external code.
    files: ['libs/client/{src,consumer}/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { allowCircularSelfDependency: true, depConstraints: [lib('client')] },
      ],
    },
  },
  {
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'URL',
          property: 'canParse',
          message: 'Use parseUrl: canParse of Node 20 rejects valid URLs.',
        },
      ],
    },
  },
  {
    // Production code never imports test helpers or local servers.
    files: ['apps/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.e2e-spec.ts', '**/*.fleet-spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            '@perkway/audit',
            '@perkway/testing',
            '@perkway/fleet',
            '@perkway/local-servers',
            '@perkway/test-fleet',
          ],
        },
      ],
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.ts'],
    rules: {
      // A type-only import of an injected class compiles but fails at start, because it emits no metadata.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    // Browser code and its build; apps do not load it.
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
            "Use a class: styles belong in the stylesheets, and the console's content security policy allows no inline styles.",
        },
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'Render text as text.' },
      ],
    },
  },
  {
    files: ['**/*.{js,cjs,mjs,ts}'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
);
