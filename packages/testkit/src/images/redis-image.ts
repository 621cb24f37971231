// An image with a real Redis, its client and a shell, built from the installed Debian package: the binaries and the
// libraries that they are linked with. The command of a deployment decides what a container runs.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { engineBinary } from '../engines/engine-binaries.ts'
import { busyboxLayer } from './busybox-image.ts'
import { type Layer, makeImage, makeLayer, type SampleImage } from './sample-image.ts'

const BINARIES = ['redis-server', 'redis-cli'] as const

export function makeRedisImage(): SampleImage {
  return makeImage([busyboxLayer(), redisLayer()], {
    Cmd: ['/bin/redis-server'],
    Env: ['PATH=/bin'],
    ExposedPorts: { '6379/tcp': {} },
  })
}

let made: Layer | undefined
function redisLayer(): Layer {
  made ??= makeLayer([
    ...BINARIES.map((name) => executable(`bin/${name}`, engineBinary(name))),
    ...libraries().map((path) => executable(path.slice(1), path)),
    { name: 'tmp/empty', content: Buffer.alloc(0) },
  ])
  return made
}

const executable = (name: string, path: string) => ({ name, content: readFileSync(path), executable: true })

/** Paths of the libraries that the Redis binaries load. */
function libraries(): string[] {
  const linked = BINARIES.map((name) => execFileSync(engineBinary('ldd'), [engineBinary(name)]).toString())
  return [...new Set(linked.join('').match(/\/lib\S+/g))].sort()
}
