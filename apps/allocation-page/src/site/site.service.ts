import { LANGUAGES, TEXTS, type Language } from '../texts/index.js';
import { chooseLanguage } from './choose-language.js';
import { Compressed } from './compressed.js';
import { PageAssets } from './page-assets.js';
import { renderPage } from './render-page.js';

/** The page in all its languages, rendered and compressed once at start, and its files. */
export class SiteService {
  readonly assets: PageAssets;
  private readonly pages: Readonly<Record<Language, Compressed>>;

  /** @param folder where the build has put the files of the page */
  constructor(
    folder: string,
    private readonly defaultLanguage: Language,
  ) {
    this.assets = new PageAssets(folder);
    const languages = LANGUAGES.map((language) => TEXTS[language]);
    const pages = LANGUAGES.map((language) => {
      const text = renderPage(TEXTS[language], languages, this.assets.paths);
      return [language, new Compressed(Buffer.from(text))];
    });
    this.pages = Object.fromEntries(pages) as Record<Language, Compressed>;
  }

  page(asked?: unknown, acceptLanguage?: string): { language: Language; content: Compressed } {
    const language = chooseLanguage(asked, acceptLanguage, this.defaultLanguage);
    return { language, content: this.pages[language] };
  }
}
