// Writes a tar archive whose bytes depend on nothing but its entries and one date: sorted, owned by root, in the ustar format.

export type TarEntry =
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly content: Buffer }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }

const BLOCK = 512
const NAME_BYTES = 100
const FOLDER_MODE = 0o755
const LINK_MODE = 0o777
const TYPES = { file: '0', link: '2', folder: '5' } as const

/** The archive. Paths are relative and without a slash at the end; `date` is in seconds. */
export function tarOf(entries: readonly TarEntry[], date: number): Buffer {
  const sorted = withFolders(entries).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const blocks = sorted.flatMap((entry) => [headerOf(entry, date), ...paddedContent(entry)])
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])
}

/** Every folder above an entry is an entry too, so that its mode does not depend on the umask of the program that unpacks it. */
function withFolders(entries: readonly TarEntry[]): TarEntry[] {
  const byPath = new Map<string, TarEntry>()
  for (const { path } of entries)
    for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
      const parent = path.slice(0, end)
      byPath.set(parent, { kind: 'folder', path: parent, mode: FOLDER_MODE })
    }
  for (const entry of entries) byPath.set(entry.path, entry)
  return [...byPath.values()]
}

function paddedContent(entry: TarEntry): Buffer[] {
  if (entry.kind !== 'file') return []
  return [entry.content, Buffer.alloc(-entry.content.length & (BLOCK - 1))]
}

function headerOf(entry: TarEntry, date: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const { name, prefix } = splitPath(entry.kind === 'folder' ? `${entry.path}/` : entry.path)
  const octal = (value: number, at: number, digits: number): void =>
    void header.write(value.toString(8).padStart(digits, '0'), at)
  header.write(name, 0)
  octal(entry.kind === 'link' ? LINK_MODE : entry.mode, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(entry.kind === 'file' ? entry.content.length : 0, 124, 11)
  octal(date, 136, 11)
  header.write(TYPES[entry.kind], 156)
  if (entry.kind === 'link') header.write(fitting(entry.target, NAME_BYTES, entry.path), 157)
  header.write('ustar\x0000', 257)
  header.write(prefix, 345)
  // The sum is computed as if its own field consisted of spaces.
  header.write(' '.repeat(8), 148)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** ustar has 100 bytes for the end of a path and 155 for the folders before it. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { name: path, prefix: '' }
  const cut = path.indexOf('/', path.length - NAME_BYTES - 1)
  const name = path.slice(cut + 1)
  if (cut < 1 || name === '') throw new Error(`${path} is too long for a tar archive`)
  return { name: fitting(name, NAME_BYTES, path), prefix: fitting(path.slice(0, cut), 155, path) }
}

function fitting(text: string, bytes: number, path: string): string {
  if (Buffer.byteLength(text) > bytes) throw new Error(`${path} is too long for a tar archive`)
  return text
}
