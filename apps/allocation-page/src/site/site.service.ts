import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import type { AllocationPageEnv } from '../env.js';
import { LANGUAGES, TEXTS, type Language } from '../texts/index.js';
import { chooseLanguage } from './choose-language.js';
import { Compressed } from './compressed.js';
import { PageAssets } from './page-assets.js';
import { renderPage } from './render-page.js';

/** The page in all its languages, rendered and compressed once at start, and its files. */
@Injectable()
export class SiteService {
  readonly assets: PageAssets;
  private readonly pages: Readonly<Record<Language, Compressed>>;

  constructor(@Inject(ENV) private readonly env: AllocationPageEnv) {
    this.assets = new PageAssets(env.ASSETS_FOLDER);
    const languages = LANGUAGES.map((language) => TEXTS[language]);
    const pages = LANGUAGES.map((language) => {
      const text = renderPage(TEXTS[language], languages, this.assets.paths);
      return [language, new Compressed(Buffer.from(text))];
    });
    this.pages = Object.fromEntries(pages) as Record<Language, Compressed>;
  }

  page(asked?: unknown, acceptLanguage?: string): { language: Language; content: Compressed } {
    const language = chooseLanguage(asked, acceptLanguage, this.env.DEFAULT_LANGUAGE);
    return { language, content: this.pages[language] };
  }
}
