import { LINK_HEAD_LENGTH, type LinkBatch, type PreparedLink } from '@perkway/signing';
import { hash } from 'node:crypto';

/** The offsets of one link's token head; a perk may appear several times. */
interface Hole {
  link: PreparedLink;
  first: number;
  others: number[];
}

/**
 * A response without its link tokens: constant bytes, rendered once, and the offsets of the tokens, whose lengths are
 * known in advance. A response is a copy of these bytes with fresh tokens written into it.
 */
export class ResponseTemplate {
  readonly length: number;
  /** A weak ETag, because the links differ between responses while the content does not. */
  readonly etag: string;

  constructor(
    private readonly bytes: Buffer,
    private readonly holes: readonly Hole[],
    /** Canonical language tag. */
    readonly language: string,
    /** JSON array of the ids of the perks shown, each once; undefined if none is shown. */
    readonly shownPerks: string | undefined,
  ) {
    this.length = bytes.length;
    // The token heads are still zeros here, so this hashes the content alone.
    this.etag = `W/"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
  }

  /** The response without its links, for HEAD, where only the length matters. */
  get blank(): Buffer {
    return this.bytes;
  }

  /** Number of links that one fetch needs. */
  get links(): number {
    return this.holes.length;
  }

  /**
   * Writes a response with fresh links; all appearances of a perk share one link.
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

/** Assembles a template from text and links. */
export class TemplateBuilder {
  private readonly pieces: (string | PreparedLink)[] = [];

  text(text: string): void {
    this.pieces.push(text);
  }

  link(link: PreparedLink): void {
    this.pieces.push(link);
  }

  build(language: string, shownPerks: readonly string[]): ResponseTemplate {
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
    return new ResponseTemplate(bytes, [...holes.values()], language, shown);
  }
}
