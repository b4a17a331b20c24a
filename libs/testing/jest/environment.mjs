import vm from 'node:vm';

export { TestEnvironment as default } from 'jest-environment-node';

const { compileFunction } = vm;
/** The first compiled script of each bundled package, then its code cache. */
const compiled = new Map();

/**
 * Compiles a bundled package from the code that this worker compiled for an earlier test file, which halves the time to
 * load the packages. Jest compiles every file again, because it passes a callback for `import()`. Bundles have no
 * `import()`, so they need no callback.
 */
vm.compileFunction = (source, parameters, options) => {
  const { filename, parsingContext } = options;
  if (!filename?.includes('/.cache/test-packages/')) return compileFunction(source, parameters, options);
  const first = compiled.get(filename);
  // The cache is made after the first test file, so it contains the functions that ran.
  const cachedData = first instanceof vm.Script ? first.createCachedData() : first;
  const script = new vm.Script(`(function (${parameters.join()}) {${source}\n})`, { filename, cachedData });
  compiled.set(filename, cachedData ?? script);
  return script.runInContext(parsingContext);
};
