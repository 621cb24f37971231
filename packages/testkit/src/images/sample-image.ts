// Builds OCI images in memory: layers, configuration, manifest. The smallest image has one layer with one file.

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

export interface Blob {
  readonly digest: string
  readonly bytes: Buffer
}
export interface SampleImage {
  readonly layers: readonly Blob[]
  readonly config: Blob
  readonly manifest: Blob
}
/** An entry of a tar archive: a file with its content, a symbolic link, or a folder that only one user can enter. */
export type TarEntry = { readonly name: string } & (
  | { readonly content: Buffer; readonly executable?: boolean }
  | { readonly linkTo: string }
  | { readonly owner: number }
)
export interface Layer {
  readonly blob: Blob
  /** Digest of the layer's archive before compression. */
  readonly diffId: string
}

export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'

/** Makes an image that cannot be run. Equal content gives an equal digest. */
export function makeSampleImage(content: string): SampleImage {
  const layer = makeLayer([{ name: 'hello.txt', content: Buffer.from(content) }])
  return makeImage([layer], { Cmd: ['/hello.txt'] })
}

export function makeLayer(entries: readonly TarEntry[]): Layer {
  const tar = Buffer.concat([...entries.flatMap(tarEntry), Buffer.alloc(1024)])
  return { blob: blob(gzipSync(tar)), diffId: blob(tar).digest }
}

/** Makes an image. `settings` is the run-time part of its configuration, in the notation of the image specification. */
export function makeImage(
  layers: readonly Layer[],
  settings: object,
  architecture: 'amd64' | 'arm64' = 'amd64',
): SampleImage {
  const rootfs = { type: 'layers', diff_ids: layers.map((layer) => layer.diffId) }
  const text = JSON.stringify({ architecture, os: 'linux', config: settings, rootfs })
  const config = blob(Buffer.from(text))
  const blobs = layers.map((layer) => layer.blob)
  return { layers: blobs, config, manifest: blob(manifestOf(config, blobs)) }
}

function manifestOf(config: Blob, layers: readonly Blob[]): Buffer {
  const describe = (mediaType: string, { digest, bytes }: Blob) => ({ mediaType, digest, size: bytes.length })
  return Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: describe('application/vnd.oci.image.config.v1+json', config),
      layers: layers.map((layer) => describe('application/vnd.oci.image.layer.v1.tar+gzip', layer)),
    }),
  )
}

const blob = (bytes: Buffer): Blob => ({
  bytes,
  digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
})

/** The header of an entry in the tar format (ustar), followed by the entry's content. */
function tarEntry(entry: TarEntry): Buffer[] {
  const content = 'content' in entry ? entry.content : Buffer.alloc(0)
  return [tarHeader(entry, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)]
}

function tarHeader(entry: TarEntry, size: number): Buffer {
  const header = Buffer.alloc(512)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  const { kind, mode, owner } = kindOf(entry)
  header.write(entry.name, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(owner, 8), 108)
  header.write(octal(owner, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(`        ${kind}`, 148)
  if ('linkTo' in entry) header.write(entry.linkTo, 157)
  header.write('ustar\x0000', 257)
  // The checksum covers the tar header with spaces in the checksum field.
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

function kindOf(entry: TarEntry): { readonly kind: string; readonly mode: number; readonly owner: number } {
  if ('linkTo' in entry) return { kind: '2', mode: 0o755, owner: 0 }
  if ('owner' in entry) return { kind: '5', mode: 0o700, owner: entry.owner }
  return { kind: '0', mode: entry.executable === true ? 0o755 : 0o644, owner: 0 }
}
