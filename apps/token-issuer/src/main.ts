import { bootstrap } from '@perkway/platform';
import { tokenIssuerApp } from './app.js';

await bootstrap(() => tokenIssuerApp());
