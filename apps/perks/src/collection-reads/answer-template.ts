import { LINK_HEAD_LENGTH, type LinkBatch, type PreparedLink } from '@perkway/signing';
import { hash } from 'node:crypto';

/** Where the head of one link's token stands; a perk may be shown several times. */
interface Hole {
  link: PreparedLink;
  first: number;
  others: number[];
}

/**
 * An answer but for its link tokens: the bytes that do not change, prepared once, and the places of the tokens, whose
 * lengths are known beforehand. An answer is a copy with the tokens of one fetch written into it.
 */
export class AnswerTemplate {
  readonly length: number;
  /** Weak, because the links differ from one answer to the next while the content does not. */
  readonly etag: string;

  constructor(
    private readonly bytes: Buffer,
    private readonly holes: readonly Hole[],
    /** Canonical tag. */
    readonly language: string,
    /** The perks it shows, each once, as the JSON text of an array; undefined if it shows none. */
    readonly shownPerks: string | undefined,
  ) {
    this.length = bytes.length;
    // What changes from fetch to fetch is zeros here, so this is a hash of the content alone.
    this.etag = `W/"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
  }

  /** The answer without its links: for HEAD, where only its length is of interest. */
  get blank(): Buffer {
    return this.bytes;
  }

  /** How many links one fetch takes. */
  get links(): number {
    return this.holes.length;
  }

  /**
   * One fetch: fresh links, the same for every appearance of a perk.
   * @param memory has room for `length` bytes
   */
  fill(memory: Buffer, batch: LinkBatch): void {
    memory.set(this.bytes);
    for (const { link, first, others } of this.holes) {
      batch.writeHead(link, memory, first);
      for (const other of others) memory.copyWithin(other, first, first + LINK_HEAD_LENGTH);
    }
  }
}

/** Puts a template together from text and links. */
export class TemplateBuilder {
  private readonly pieces: (string | PreparedLink)[] = [];

  text(text: string): void {
    this.pieces.push(text);
  }

  link(link: PreparedLink): void {
    this.pieces.push(link);
  }

  build(language: string, shownPerks: readonly string[]): AnswerTemplate {
    const length = this.pieces.reduce(
      (sum, piece) => sum + (typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length),
      0,
    );
    const bytes = Buffer.alloc(length);
    const holes = new Map<PreparedLink, Hole>();
    let at = 0;
    for (const piece of this.pieces)
      if (typeof piece === 'string') at += bytes.write(piece, at);
      else {
        const hole = holes.get(piece);
        if (hole) hole.others.push(at);
        else holes.set(piece, { link: piece, first: at, others: [] });
        piece.text.copy(bytes, at + LINK_HEAD_LENGTH);
        at += piece.length;
      }
    const shown = shownPerks.length > 0 ? JSON.stringify(shownPerks) : undefined;
    return new AnswerTemplate(bytes, [...holes.values()], language, shown);
  }
}
