// The kit's --restart command: asks the run that owns the broker to stop it in good order and start it again, and waits.
import { connect } from 'node:net';

const socket = connect(process.argv[2] ?? '');
let answer = '';
socket.setEncoding('utf8').on('data', (chunk) => {
  answer += chunk;
});
socket.on('error', (error) => {
  answer = error.message;
});
socket.on('close', () => {
  if (answer !== 'ok') console.error(answer);
  process.exitCode = answer === 'ok' ? 0 : 1;
});
