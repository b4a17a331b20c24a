import { Readable } from 'node:stream';
import { queryError } from '../query/query-error.js';

/**
 * Bodies up to this size are buffered, so that an error can still set the status. Larger ones are streamed, and their
 * status is sent first.
 */
const MAX_BUFFERED_BYTES = 512 * 1024;
/** Text is flushed in chunks of about this size. */
const CHUNK_CHARACTERS = 32 * 1024;
/** Limit for all queries of one request in total. */
export const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

/** A response body that is written row by row: buffered while it is small, then streamed with backpressure. */
export class ResponseBody {
  /** Resolves with the whole body if it is small, or with a stream. Rejects if it failed before anything was sent. */
  readonly ready: Promise<Buffer | Readable>;
  private resolve: (body: Buffer | Readable) => void;
  private reject: (error: unknown) => void;
  private text = '';
  private chunks: Buffer[] = [];
  private bytes = 0;
  private stream?: Readable;

  /** @param flow pauses and resumes the rows */
  constructor(private readonly flow: { pause: () => void; resume: () => void }) {
    this.ready = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** @throws ApiError 400 when the body becomes too large */
  write(text: string | Buffer): void {
    if (typeof text !== 'string') {
      this.flush();
      this.add(text);
      return;
    }
    this.text += text;
    if (this.text.length >= CHUNK_CHARACTERS) this.flush();
  }

  end(): void {
    this.flush();
    if (this.stream) this.stream.push(null);
    else this.resolve(Buffer.concat(this.chunks, this.bytes));
  }

  /** Rejects `ready`. If the body is already streamed, the status was sent, so this destroys the stream instead. */
  fail(error: unknown): void {
    if (this.stream) this.stream.destroy(error as Error);
    else this.reject(error);
  }

  private flush() {
    if (this.text === '') return;
    const chunk = Buffer.from(this.text);
    this.text = '';
    this.add(chunk);
  }

  private add(chunk: Buffer) {
    this.bytes += chunk.length;
    if (this.bytes > MAX_RESPONSE_BYTES)
      throw queryError(
        `The responses of one request may have at most ${MAX_RESPONSE_BYTES / 1024 / 1024} MB in total: use smaller limits`,
      );
    if (this.stream) return this.push(chunk);
    this.chunks.push(chunk);
    if (this.bytes <= MAX_BUFFERED_BYTES) return;
    this.stream = new Readable({ read: () => this.flow.resume(), highWaterMark: MAX_BUFFERED_BYTES });
    for (const each of this.chunks.splice(0)) this.push(each);
    this.resolve(this.stream);
  }

  private push(chunk: Buffer) {
    if (!this.stream!.push(chunk)) this.flow.pause();
  }
}
