import { de } from './de.js';
import { en } from './en.js';
import { es } from './es.js';
import { fr } from './fr.js';
import type { Texts } from './texts.js';

export type { Texts } from './texts.js';
export const LANGUAGES = ['en', 'fr', 'de', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];
export const TEXTS: Readonly<Record<Language, Texts>> = { en, fr, de, es };
