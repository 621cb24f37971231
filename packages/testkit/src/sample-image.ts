// The smallest OCI image there is: one layer with one file, its configuration and its manifest, made in memory.

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

export interface Blob {
  readonly digest: string
  readonly bytes: Buffer
}
export interface SampleImage {
  readonly layer: Blob
  readonly config: Blob
  readonly manifest: Blob
}

export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'

/** The same content gives the same digest. */
export function makeSampleImage(content: string): SampleImage {
  const tar = tarOf('hello.txt', Buffer.from(content))
  const layer = blob(gzipSync(tar))
  const config = blob(
    Buffer.from(
      JSON.stringify({
        architecture: 'amd64',
        os: 'linux',
        config: { Cmd: ['/hello.txt'] },
        rootfs: { type: 'layers', diff_ids: [blob(tar).digest] },
      }),
    ),
  )
  return { layer, config, manifest: blob(manifestOf(config, layer)) }
}

function manifestOf(config: Blob, layer: Blob): Buffer {
  const describe = (mediaType: string, { digest, bytes }: Blob) => ({ mediaType, digest, size: bytes.length })
  return Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: describe('application/vnd.oci.image.config.v1+json', config),
      layers: [describe('application/vnd.oci.image.layer.v1.tar+gzip', layer)],
    }),
  )
}

const blob = (bytes: Buffer): Blob => ({
  bytes,
  digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
})

/** A tar archive (ustar) of one regular file. */
function tarOf(name: string, content: Buffer): Buffer {
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512)
  return Buffer.concat([tarHeader(name, content.length), content, padding, Buffer.alloc(1024)])
}

function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  header.write(name, 0)
  header.write(octal(0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        0', 148)
  header.write('ustar\x0000', 257)
  // The sum is taken over the header with its own field blank.
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
