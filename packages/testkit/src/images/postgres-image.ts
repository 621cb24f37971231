// An image with a real PostgreSQL, built from the installed Debian package. Its command creates a database with checksums
// in PGDATA if the folder is empty, with its log in PGWAL if that is set, and runs the server as the user postgres.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { engineBinary } from '../engines/engine-binaries.ts'
import { busyboxLayer } from './busybox-image.ts'
import { type Layer, makeImage, makeLayer, type SampleImage, type TarEntry } from './sample-image.ts'

const VERSION = '15'
const PROGRAMS = `/usr/lib/postgresql/${VERSION}`
const SHARED = `/usr/share/postgresql/${VERSION}`
const BINARIES = ['postgres', 'initdb', 'psql', 'pgbench', 'pg_isready', 'pg_amcheck'] as const
/** Server modules that the first database needs, and the one that checks tables and indexes. */
const MODULES = ['dict_snowball.so', 'plpgsql.so', 'amcheck.so']

const START = `#!/bin/sh
set -e
mkdir -p "$PGDATA"
busybox chown -R postgres "$PGDATA"
as() { exec busybox su -s /bin/sh postgres -c "$1"; }
if [ -n "$PGWAL" ]; then mkdir -p "$PGWAL"; busybox chown -R postgres "$PGWAL"; fi
[ -s "$PGDATA/PG_VERSION" ] || (as "initdb --data-checksums \${PGWAL:+--waldir=$PGWAL} --locale=C --encoding=UTF8 --auth=trust --no-instructions >/dev/null")
grep -q 'all all all trust' "$PGDATA/pg_hba.conf" || echo 'host all all all trust' >> "$PGDATA/pg_hba.conf"
as "exec postgres -c listen_addresses='*' -c unix_socket_directories='' -c max_wal_size=64MB -c min_wal_size=32MB"
`
const PASSWD = 'root:x:0:0:root:/:/bin/sh\npostgres:x:999:999:postgres:/:/bin/sh\n'

export function makePostgresImage(): SampleImage {
  return makeImage([busyboxLayer(), postgresLayer()], {
    Cmd: ['/bin/start-postgres'],
    Env: [`PATH=/bin:${PROGRAMS}/bin`, 'PGDATA=/var/lib/data/db'],
    ExposedPorts: { '5432/tcp': {} },
    // A fast shutdown: SIGTERM would wait for the clients.
    StopSignal: 'SIGINT',
  })
}

/** The path of a program of PostgreSQL on this machine, for clients outside of containers. */
export const postgresProgram = (name: (typeof BINARIES)[number]): string => join(PROGRAMS, 'bin', name)

let made: Layer | undefined
function postgresLayer(): Layer {
  const modules = MODULES.map((name) => join(PROGRAMS, 'lib', name))
  const programs = BINARIES.map(postgresProgram)
  made ??= makeLayer([
    ...[...programs, ...modules, ...libraries(programs)].map(executable),
    ...filesBelow(SHARED),
    { name: 'bin/start-postgres', content: Buffer.from(START), executable: true },
    { name: 'etc/passwd', content: Buffer.from(PASSWD) },
  ])
  return made
}

const executable = (path: string): TarEntry => ({
  name: path.slice(1),
  content: readFileSync(path),
  executable: true,
})

function filesBelow(folder: string): TarEntry[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/man'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ name: path.slice(1), content: readFileSync(path) }))
}

/** Paths of the libraries that the programs load. */
function libraries(programs: readonly string[]): string[] {
  const linked = programs.map((path) => execFileSync(engineBinary('ldd'), [path]).toString())
  return [...new Set(linked.join('').match(/\/lib\S+/g))].sort()
}
