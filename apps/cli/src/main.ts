process.stdout.write("keelson: nothing here yet\n");
