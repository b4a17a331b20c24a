export default {
  projects: ['<rootDir>/apps/*/jest.config.mjs', '<rootDir>/libs/*/jest.config.mjs', '<rootDir>/tools/*/jest.config.mjs'],
  workerIdleMemoryLimit: '1GB',
};
