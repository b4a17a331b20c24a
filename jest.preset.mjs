import { bundledPackages, bundlePackages } from './libs/testing/jest/bundled-packages.mjs';

// Here, because every Jest configuration reads this file, also those without the servers of a test run.
await bundlePackages();

const typescript = [
  '@swc/jest',
  {
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  },
];
const javascript = [
  '@swc/jest',
  {
    swcrc: false,
    jsc: { target: 'es2022', parser: { syntax: 'ecmascript' } },
    module: { type: 'commonjs' },
    sourceMaps: false,
  },
];

const ROOT = import.meta.dirname;

/**
 * Returns the configuration of one tier: all tests whose file names end in one of the suffixes, as one Jest project
 * with one transform cache. Tests run as CommonJS (Jest cannot link Nest's ESM graph on Node 20), so Nest's ESM packages
 * are transformed. Production runs as ESM, so .ci/run also starts the built bundles.
 */
export const tier = (suffixes, options) => ({
  rootDir: ROOT,
  roots: ['apps', 'libs', 'tools', 'examples'].map((folder) => `<rootDir>/${folder}`),
  testMatch: suffixes.map((suffix) => `<rootDir>/*/*/{src,test}/**/*.${suffix}.ts`),
  testEnvironment: '<rootDir>/libs/testing/jest/environment.mjs',
  extensionsToTreatAsEsm: [],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  moduleNameMapper: {
    ...bundledPackages,
    '^@perkway/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^@perkway/([^/]+)/([^/]+)$': '<rootDir>/libs/$1/src/$2.ts',
    // Our ESM sources import `./x.js` for x.ts. A real .js file (in a package) takes precedence.
    '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'],
  },
  transform: { '^.+\\.ts$': typescript, '^.+\\.m?js$': javascript },
  transformIgnorePatterns: [
    '/node_modules/(?!(?:.+/node_modules/)?(?:@nestjs|openid-client|oauth4webapi|jose|marked)/)',
    '/\\.cache/test-packages/',
  ],
  testSequencer: '<rootDir>/libs/testing/jest/slow-first.mjs',
  setupFiles: ['reflect-metadata'],
  globalSetup: '<rootDir>/libs/testing/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/jest/global-teardown.mjs',
  // Real servers are slow on a busy machine.
  testTimeout: 180_000,
  coverageProvider: 'v8',
  collectCoverageFrom: ['{apps,libs,tools}/*/src/**/*.ts', '!**/main.ts'],
  ...options,
});
