// A runnable image: the static busybox, by default with a web server that serves one page. Use nc for checks inside a
// container, because busybox's wget crashes there.

import { readFileSync } from 'node:fs'
import { engineBinary } from '../engines/engine-binaries.ts'
import { type Layer, makeImage, makeLayer, type SampleImage, type TarEntry } from './sample-image.ts'

export interface BusyboxImage {
  readonly command?: readonly string[]
  /** The page that the image serves on port 8080. A different page makes a different image. */
  readonly page?: string
  /** If true, the image also serves the page at /cgi-bin/slow, after two seconds. */
  readonly slow?: boolean
  readonly environment?: { readonly [name: string]: string }
  readonly files?: readonly TarEntry[]
  /** The user of the image's processes; root by default. */
  readonly user?: string
  /** The architecture that the image states; its busybox is always for this machine. */
  readonly architecture?: 'amd64' | 'arm64'
}

/** A program that this machine cannot run: the header of a 64-bit ELF file for another architecture. */
export const FOREIGN_PROGRAM: TarEntry = {
  name: 'bin/foreign',
  content: Buffer.concat([
    Buffer.from('7f454c46020101000000000000000000', 'hex'),
    Buffer.from('0200b70001000000', 'hex'),
    Buffer.alloc(104),
  ]),
  executable: true,
}

const APPLETS = [
  'sh',
  'sleep',
  'httpd',
  'nslookup',
  'nc',
  'cat',
  'ls',
  'id',
  'env',
  'true',
  'false',
  'hostname',
  'ps',
  'kill',
  'date',
  'touch',
  'rm',
  'mkdir',
  'head',
  'dd',
  'test',
  'ip',
  'wc',
  'grep',
  'tail',
  'sync',
]
/**
 * Shell command of the image, which exits at SIGTERM. The first process of a container ignores SIGTERM by default, so
 * without the trap every stop would take 10 s.
 */
const SERVE = "trap 'exit 0' TERM; httpd -f -p 8080 -h /www & wait"

const SLOW = "#!/bin/sh\nsleep 2\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\ncat /www/index.html\n"

export function makeBusyboxImage(image: BusyboxImage): SampleImage {
  const slow = { name: 'www/cgi-bin/slow', content: Buffer.from(SLOW), executable: true }
  const page = makeLayer([
    { name: 'www/index.html', content: Buffer.from(image.page ?? 'hello\n') },
    ...(image.slow === true ? [slow] : []),
    ...(image.files ?? []),
  ])
  const settings = {
    Cmd: image.command ?? ['/bin/sh', '-c', SERVE],
    Env: Object.entries({ PATH: '/bin', ...image.environment }).map(([name, value]) => `${name}=${value}`),
    ExposedPorts: { '8080/tcp': {} },
    ...(image.user !== undefined && { User: image.user }),
  }
  return makeImage([busyboxLayer(), page], settings, image.architecture)
}

let made: Layer | undefined
export function busyboxLayer(): Layer {
  const binary = { name: 'bin/busybox', content: readFileSync(engineBinary('busybox')), executable: true }
  made ??= makeLayer([binary, ...APPLETS.map((name) => ({ name: `bin/${name}`, linkTo: 'busybox' }))])
  return made
}
