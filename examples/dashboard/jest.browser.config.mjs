import { preset } from '../../jest.preset.mjs';

export default {
  ...preset('dashboard in a browser'),
  testMatch: ['<rootDir>/test/*.browser-spec.ts'],
};
