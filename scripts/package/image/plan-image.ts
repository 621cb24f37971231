// Plans the server's image as data: the files of each layer and how the program is started.

import { SERVER_NODE_OPTIONS } from '../package-plan.ts'
import type { TarEntry } from './tar.ts'

const USER = 65532
const NAME = 'holdfast-server'
const FOLDER = `usr/lib/${NAME}`
const BUNDLE = `${FOLDER}/server/dist/holdfast-server.mjs`
const PLAIN = 0o644
const EXECUTABLE = 0o755
/** Every user may write, and delete only own files. */
const TEMPORARY = 0o1777

export interface ImageParts {
  readonly base: readonly TarEntry[]
  readonly node: Buffer
  /** Files of the bundle by their path below its folder. */
  readonly bundle: ReadonlyMap<string, Buffer>
  readonly notice: string
}

export interface ImagePlan {
  readonly config: object
  /** The lowest first. The lower one changes with Node and Debian only, so that an upgrade downloads the upper one alone. */
  readonly layers: readonly (readonly TarEntry[])[]
}

export function planImage({ base, node, bundle, notice }: ImageParts): ImagePlan {
  const text = (path: string, lines: string): TarEntry => file(path, PLAIN, Buffer.from(lines))
  const users = text('etc/passwd', `root:x:0:0::/root:\n${NAME}:x:${USER}:${USER}::/tmp:\n`)
  const groups = text('etc/group', `root:x:0:\n${NAME}:x:${USER}:\n`)
  const temporary: TarEntry = { kind: 'folder', path: 'tmp', mode: TEMPORARY }
  const program = [...bundle].map(([path, content]) => file(`${FOLDER}/${path}`, PLAIN, content))
  return {
    config: CONFIG,
    layers: [
      [...base, users, groups, temporary, file(`${FOLDER}/node`, EXECUTABLE, node)],
      [...program, text(`usr/share/doc/${NAME}/copyright`, notice)],
    ],
  }
}

const file = (path: string, mode: number, content: Buffer): TarEntry => ({
  kind: 'file',
  path,
  mode,
  content,
})

const CONFIG = {
  // By number: Kubernetes verifies only so that the user is not root.
  User: `${USER}:${USER}`,
  WorkingDir: '/',
  Entrypoint: [`/${FOLDER}/node`, ...SERVER_NODE_OPTIONS, `/${BUNDLE}`],
  Cmd: ['serve'],
  Env: [
    // Node's own list of authorities and that of Debian; an operator may mount another file.
    'NODE_USE_SYSTEM_CA=1',
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
  ],
  Labels: { 'org.opencontainers.image.licenses': 'Apache-2.0', 'org.opencontainers.image.title': NAME },
}
