export default {
  projects: [
    '<rootDir>/apps/*/jest.config.mjs',
    '<rootDir>/libs/*/jest.config.mjs',
    '<rootDir>/tools/*/jest.config.mjs',
  ],
  // Jest reads this setting only here, not in projects. Real servers are slow on a busy machine.
  testTimeout: 60_000,
  // More workers than cores, because tests mostly wait for servers to stop and start.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
};
