// Writes an image as an archive of the OCI image layout. It also has the list that `docker load` of Docker 20.10 needs, which
// does not know the layout.

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type TarEntry, tarOf } from './tar.ts'

export interface Image {
  /** Name with tag, such as holdfast-server:1.2.3. */
  readonly name: string
  /** In seconds. */
  readonly date: number
  readonly architecture: string
  /** `config` of the image: user, entry point, environment. */
  readonly config: object
  /** Layers as tar archives, the lowest first. */
  readonly layers: readonly Buffer[]
}

export interface ImageArchive {
  readonly archive: Buffer
  /** Digest of the manifest, by which a registry knows the image. */
  readonly digest: string
}

interface Blob {
  readonly mediaType: string
  readonly content: Buffer
}

const OCI = 'application/vnd.oci.image'
const MODE = 0o644

export function imageArchive(image: Image): ImageArchive {
  const layers = image.layers.map((tar): Blob => {
    return { mediaType: `${OCI}.layer.v1.tar+gzip`, content: gzipSync(tar) }
  })
  const config = jsonBlob('config', configOf(image))
  const manifest = jsonBlob('manifest', {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: descriptorOf(config),
    layers: layers.map(descriptorOf),
  })
  const [, tag = ''] = image.name.split(':')
  const annotations = {
    // Docker 29 runs images by complete names only, and completes those of a command line.
    'io.containerd.image.name': `docker.io/library/${image.name}`,
    'org.opencontainers.image.ref.name': tag,
  }
  const index = { schemaVersion: 2, manifests: [{ ...descriptorOf(manifest), annotations }] }
  const forDocker = [{ Config: pathOf(config), RepoTags: [image.name], Layers: layers.map(pathOf) }]
  const entries: TarEntry[] = [
    jsonFile('oci-layout', { imageLayoutVersion: '1.0.0' }),
    jsonFile('index.json', index),
    jsonFile('manifest.json', forDocker),
    ...[...layers, config, manifest].map((blob) => fileAt(pathOf(blob), blob.content)),
  ]
  return { archive: tarOf(entries, image.date), digest: digestOf(manifest.content) }
}

const configOf = ({ architecture, config, date, layers }: Image): object => ({
  architecture,
  os: 'linux',
  created: new Date(date * 1000).toISOString(),
  config,
  rootfs: { type: 'layers', diff_ids: layers.map(digestOf) },
})

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`
const pathOf = ({ content }: Blob): string => `blobs/${digestOf(content).replace(':', '/')}`
const fileAt = (path: string, content: Buffer): TarEntry => ({ kind: 'file', path, mode: MODE, content })
const jsonFile = (path: string, value: object): TarEntry => fileAt(path, Buffer.from(JSON.stringify(value)))

const jsonBlob = (kind: 'config' | 'manifest', value: object): Blob => ({
  mediaType: `${OCI}.${kind}.v1+json`,
  content: Buffer.from(JSON.stringify(value)),
})

const descriptorOf = ({ mediaType, content }: Blob): object => ({
  mediaType,
  digest: digestOf(content),
  size: content.length,
})
