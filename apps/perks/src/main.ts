import { bootstrap } from '@perkway/platform';
import { perksApp } from './app.js';

await bootstrap(() => perksApp());
