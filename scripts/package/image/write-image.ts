// Writes the archive of the server's image.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Release } from '../nfpm-config.ts'
import { imageArchive } from './oci-archive.ts'
import { planImage } from './plan-image.ts'
import { type TarEntry, tarOf } from './tar.ts'

export interface ImageSources {
  readonly base: readonly TarEntry[]
  /** Path of the program. */
  readonly node: string
  /** Paths of the files of the bundle by their path below its folder. */
  readonly bundle: ReadonlyMap<string, string>
  readonly notice: string
}

/** Returns the digest of the image. */
export function writeImage(sources: ImageSources, { version, date, arch }: Release, into: string): string {
  const seconds = Date.parse(date) / 1000
  const { config, layers } = planImage({
    ...sources,
    node: readFileSync(sources.node),
    bundle: new Map([...sources.bundle].map(([path, from]) => [path, readFileSync(from)])),
  })
  const { archive, digest } = imageArchive({
    name: `holdfast-server:${version}`,
    date: seconds,
    architecture: arch,
    config,
    layers: layers.map((entries) => tarOf(entries, seconds)),
  })
  writeFileSync(join(into, `holdfast-server-image_${version}_${arch}.tar`), archive)
  return digest
}
