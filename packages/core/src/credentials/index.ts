export { detectCredential } from './detect-credential.ts'
export { describeReceived, safeField, safeKey } from './redact.ts'
