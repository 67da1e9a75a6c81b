process.stdout.write("bench: nothing here yet\n");
