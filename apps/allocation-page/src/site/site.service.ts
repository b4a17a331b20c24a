import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import type { AllocationPageEnv } from '../env.js';
import { LANGUAGES, TEXTS, type Language } from '../texts/index.js';
import { chooseLanguage } from './choose-language.js';
import { Compressed } from './compressed.js';
import { PageAssets } from './page-assets.js';
import { renderPage } from './render-page.js';

/** Holds the page in every language, rendered and compressed once at start, and the files that the page loads. */
@Injectable()
export class SiteService {
  readonly assets: PageAssets;
  private readonly pages: Readonly<Record<Language, Compressed>>;
  /**
   * The page in the default language, for readers who prefer none of its languages: starts with a button for each.
   */
  private readonly foreign: Compressed;

  constructor(@Inject(ENV) private readonly env: AllocationPageEnv) {
    this.assets = new PageAssets(env.ASSETS_FOLDER);
    const languages = LANGUAGES.map((language) => TEXTS[language]);
    const render = (language: Language, isForeign = false) =>
      new Compressed(Buffer.from(renderPage(TEXTS[language], languages, this.assets.paths, isForeign)));
    const pages = LANGUAGES.map((language) => [language, render(language)]);
    this.pages = Object.fromEntries(pages) as Record<Language, Compressed>;
    this.foreign = render(env.DEFAULT_LANGUAGE, true);
  }

  page(requested?: unknown, acceptLanguage?: string): { language: Language; content: Compressed } {
    const { language, isForeign } = chooseLanguage(requested, acceptLanguage, this.env.DEFAULT_LANGUAGE);
    return { language, content: isForeign ? this.foreign : this.pages[language] };
  }
}
