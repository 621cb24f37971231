// An etcd member that requires client certificates, for tests. The authorities that it trusts change with a restart.

import { freePorts } from '../free-port.ts'
import { makeTempFolder } from '../temp-folder.ts'
import { engineBinary } from './engine-binaries.ts'
import { type EngineProcess, startEngineProcess } from './engine-process.ts'

/** Paths of PEM files. */
export interface TlsEtcdFiles {
  readonly cert: string
  readonly key: string
  /** The authorities of the clients. */
  readonly trusted: string
}

export interface TlsEtcd {
  readonly endpoint: string
  /** Starts the member again on the same data and port, with other files. */
  restart(files: TlsEtcdFiles): Promise<void>
  stop(): Promise<void>
}

/** Does not wait until the member answers: only the caller has a client certificate. */
export async function startTlsEtcd(files: TlsEtcdFiles): Promise<TlsEtcd> {
  const folder = makeTempFolder('tls-etcd')
  const [clientPort, peerPort] = await freePorts(2)
  const [url, peerUrl] = [`https://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`]
  const launch = ({ cert, key, trusted }: TlsEtcdFiles): EngineProcess =>
    startEngineProcess({
      binary: engineBinary('etcd'),
      args: [
        ...['--name=one', `--data-dir=${folder.path}/data`, '--log-level=error'],
        ...[`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
        ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
        `--initial-cluster=one=${peerUrl}`,
        ...[`--cert-file=${cert}`, `--key-file=${key}`, '--client-cert-auth', `--trusted-ca-file=${trusted}`],
        ...['--heartbeat-interval=10', '--election-timeout=100'],
      ],
      logFile: `${folder.path}/etcd.log`,
      detached: false,
    })
  let running = launch(files)
  return {
    endpoint: url,
    async restart(next) {
      await running.kill()
      running = launch(next)
    },
    async stop() {
      await running.kill()
      folder.remove()
    },
  }
}
